import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Step } from '../../../pki/renewal.ts';
import { noticeOf } from './notices.ts';

const reasonOf = (step: Step) =>
  noticeOf({ id: '', authority: 'clients-ca', step, validityMs: 1, leaves: {} })?.reason;
const authority = {
  thumbprint: 't',
  keyId: 'k',
  subject: 's',
  notBefore: new Date(0),
  notAfter: new Date(1),
};

test('renewals are told of, and what every new cluster goes through is not', () => {
  assert.equal(reasonOf({ do: 'make key', generation: 0, why: '' }), undefined);
  assert.equal(reasonOf({ do: 'make key', generation: 1, why: '' }), 'CaKeyReplaced');
  const made = { do: 'make certificate', keyGeneration: 0, former: [], why: '' } as const;
  assert.equal(reasonOf({ ...made, generation: 0 }), undefined);
  assert.equal(reasonOf({ ...made, generation: 1 }), 'CaRenewed');
  assert.equal(reasonOf({ do: 'remove', authorities: [], keys: [] }), 'CaRemoved');
  const sign = (why: 'missing' | 'expiring'): Step => ({
    do: 'sign',
    authority,
    leaves: [{ name: 'n', why }],
  });
  assert.equal(reasonOf(sign('missing')), undefined);
  assert.equal(reasonOf(sign('expiring')), 'CertificatesIssued');
});
