/** `isthmus dns query` against a real kube-apiserver that does not let it read. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { stringify } from 'yaml';
import { runProgram } from '../../../src/cli/program.ts';
import type { Terminal } from '../../../src/cli/terminal.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';

let plane: ControlPlane;
before(async () => {
  plane = await startControlPlane();
});
after(() => plane?.stop());

suite('isthmus dns query', { timeout: 180_000 }, () => {
  test('says which rights are missing, and does not wait for them for ever', async () => {
    const config = join(plane.directory, 'query.yaml');
    const kubeconfig = await plane.userKubeconfig('nobody-in-particular');
    const kubernetes = { clusterId: 'here', kubeconfig, secretsNamespace: null, joinWaitSeconds: 0 };
    await writeFile(config, stringify({ zones: [{ name: 'example.test' }], kubernetes }));
    const written = { out: '', err: '' };
    const terminal: Terminal = {
      out: (text) => void (written.out += text),
      err: (text) => void (written.err += text),
      exitCode: 0,
    };
    const code = await runProgram(['dns', 'query', 'foo.example.test', '--config', config], terminal);
    assert.equal(code, 1, written.out);
    assert.match(written.err, /the Kubernetes API server refused the request/);
    assert.match(written.err, /Service: services is forbidden: User "nobody-in-particular" cannot list/);
  });
});
