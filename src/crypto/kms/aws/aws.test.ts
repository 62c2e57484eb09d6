import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { testKmsContract } from '../../../../test/support/kms-contract.ts';
import type { KmsConditions, KmsUnderTest } from '../../../../test/support/kms-contract.ts';
import { AWS_REGION, AWS_ROLE, newSession, startAws } from '../../../../test/support/kms/aws.ts';
import type { AwsStandIn } from '../../../../test/support/kms/aws.ts';
import { LOOPBACK } from '../../../../test/support/kms/stand-in.ts';
import { workspace } from '../../../../test/support/workspace.ts';
import type { Outbound } from '../../../ops/outbound.ts';
import { awsKms } from './aws.ts';
import { awsSchema } from './config.ts';

interface AwsUnderTest extends KmsUnderTest {
  aws: AwsStandIn;
  clock: { ms: number };
}

/** What the configuration says, and what it takes to get other credentials. */
interface Access {
  config: object;
  replace?: () => unknown;
}

const WAYS: Record<string, (aws: AwsStandIn, folder: string) => Access | Promise<Access>> = {
  async 'keys in files'(aws, folder) {
    const files = [join(folder, 'id'), join(folder, 'key')] as const;
    const write = async () => {
      // Long-term keys have no session.
      const { accessKeyId, secretAccessKey } = newSession();
      aws.credentials = { accessKeyId, secretAccessKey };
      await writeFile(files[0], accessKeyId);
      await writeFile(files[1], secretAccessKey);
    };
    await write();
    const longTerm = {
      accessKeyId: { passwordFile: files[0] },
      secretAccessKey: { passwordFile: files[1] },
    };
    return { config: { credentials: { longTerm } }, replace: write };
  },
  async 'web identity'(aws, folder) {
    const webIdentityTokenFile = join(folder, 'token');
    await writeFile(webIdentityTokenFile, aws.webIdentityToken);
    const webIdentity = { roleArn: AWS_ROLE, webIdentityTokenFile, stsEndpointUrl: `${aws.url}/sts` };
    return { config: { credentials: { webIdentity } } };
  },
  async 'pod identity'(aws, folder) {
    const authorizationTokenFile = join(folder, 'token');
    await writeFile(authorizationTokenFile, aws.podToken);
    const podIdentity = { credentialsFullUri: `${aws.url}/pod`, authorizationTokenFile };
    return { config: { credentials: { podIdentity } } };
  },
  'instance metadata': (aws) => ({
    config: { credentials: { ec2Metadata: { iamRole: AWS_ROLE, metadataEndpoint: aws.url } } },
  }),
};

async function make(way: string, { timeoutMs }: KmsConditions = {}): Promise<AwsUnderTest> {
  await using starting = new AsyncDisposableStack();
  const clock = { ms: Date.now() };
  const aws = starting.use(await startAws(['KEK-a', 'KEK-b'], () => clock.ms));
  const { config, replace } = await WAYS[way]!(aws, workspace('aws'));
  const kms = awsKms(awsSchema.parse({ endpointUrl: aws.url, region: AWS_REGION, ...config }), {
    outbound: LOOPBACK,
    now: () => clock.ms,
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  starting.defer(() => kms.close());
  const started = starting.move();
  return {
    kms,
    aws,
    clock,
    aliases: ['KEK-a', 'KEK-b'],
    unknownKekId: 'id-of-nobody',
    server: aws,
    rotate: (alias) => aws.keys.rotate(`id-of-${alias}`),
    versionIn: (edek) => edek[2 + edek.readUInt16BE(0)]?.toString(),
    async replaceCredentials() {
      clock.ms += 10_000; // no credential is asked for anew right after it was given
      if (replace) await replace();
      else aws.credentials = newSession();
    },
    skewClock: (ms) => void (aws.skewMs = ms),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

for (const way of Object.keys(WAYS))
  testKmsContract(`AWS by ${way}`, (conditions) => make(way, conditions), [
    'rotate',
    'replaceCredentials',
    'server',
    ...(way === 'keys in files' ? (['skewClock'] as const) : []),
  ]);

suite('AWS', () => {
  test('the wrapped key has the original’s layout', async () => {
    await using under = await make('keys in files');
    const { edek } = await under.kms.generateDek('id-of-KEK-a');
    assert.equal(edek.toString('latin1', 0, 13), '\0\x0bid-of-KEK-a');
    assert.equal(edek[13], 1, 'then what AWS made of it, and nothing else');
    assert.equal(edek.length, 13 + 1 + 12 + 32 + 16);
  });

  test('credentials are asked for again before they end', async () => {
    await using under = await make('instance metadata');
    const given = () => under.aws.requests.filter(({ method }) => method === 'PUT').length;
    await under.kms.generateDek('id-of-KEK-a');
    assert.equal(given(), 1);
    for (let minutes = 0; minutes < 240; minutes += 10) {
      under.clock.ms += 600_000;
      await under.kms.generateDek('id-of-KEK-a');
    }
    assert.ok(given() >= 4 && given() <= 6, `${given()} times`);
  });

  test('the process’s own credentials are for hosts that an admin has named', () => {
    const outbound: Outbound = { ...LOOPBACK, mayIdentifyTo: ({ hostname }) => hostname.endsWith('.ours') };
    const made = (host: string, credentials: object) =>
      awsKms(awsSchema.parse({ endpointUrl: `https://${host}/`, region: AWS_REGION, credentials }), {
        outbound,
      }).close();
    const file = { passwordFile: '/etc/isthmus/config.yaml' };
    const stsEndpointUrl = 'https://sts.ours/';
    const web = { roleArn: 'r', webIdentityTokenFile: '/t', stsEndpointUrl };
    const pod = { credentialsFullUri: 'http://169.254.170.23/v1/credentials', authorizationTokenFile: '/t' };
    for (const credentials of [
      { longTerm: { accessKeyId: { password: 'p' }, secretAccessKey: file } },
      { ec2Metadata: { iamRole: 'r' } },
      { webIdentity: web },
      { podIdentity: pod },
    ]) {
      assert.throws(() => made('kms.theirs', credentials), /identityHosts does not name/);
      made('kms.ours', credentials);
    }
    const theirSts = { webIdentity: { ...web, stsEndpointUrl: 'https://sts.theirs/' } };
    assert.throws(() => made('kms.ours', theirSts), /towards https:\/\/sts\.theirs/);
    const theirAgent = { podIdentity: { ...pod, credentialsFullUri: 'https://agent.theirs/' } };
    assert.throws(() => made('kms.ours', theirAgent), /towards https:\/\/agent\.theirs/);
    made('kms.theirs', { longTerm: { accessKeyId: { password: 'p' }, secretAccessKey: { password: 'p' } } });
  });

  test('the configuration is checked key by key, in both spellings', () => {
    const pair = { accessKeyId: { password: 'i' }, secretAccessKey: { password: 'k' } };
    const good = { endpointUrl: 'https://kms.eu-central-1.amazonaws.com', region: AWS_REGION };
    const keys = (document: unknown) =>
      awsSchema.safeParse(document).error?.issues.map(({ path }) => path.join('.'));
    assert.equal(keys({ ...good, credentials: { longTerm: pair } }), undefined);
    assert.deepEqual(
      awsSchema.parse({ ...good, longTermCredentials: pair }),
      awsSchema.parse({ ...good, credentials: { longTerm: pair } }),
    );
    assert.equal(keys({ ...good, ec2MetadataCredentials: { iamRole: 'r' } }), undefined);
    assert.deepEqual(keys(good), ['credentials']);
    assert.deepEqual(keys({ ...good, longTermCredentials: pair, credentials: { longTerm: pair } }), [
      'credentials',
    ]);
    assert.deepEqual(keys({ ...good, region: 'a/b', longTermCredentials: pair }), ['region']);
    assert.deepEqual(keys({ ...good, ec2MetadataCredentials: { iamRole: '../x' } }), [
      'ec2MetadataCredentials.iamRole',
    ]);
  });
});
