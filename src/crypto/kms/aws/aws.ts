/**
 * AWS KMS. An alias is that of a key, without `alias/`; AWS keeps all versions of a key under its one id.
 *
 * The wrapped data key, as the original has it: a 0, unsigned varint length of the key's id, the id, what AWS made of it.
 */
import { z } from 'zod';
import { BadEnvelope, KmsThrottled, UnknownKey } from '../../kms.ts';
import type { Kms, KmsSetting } from '../../kms.ts';
import { createHttpClient, failureOf } from '../http/client.ts';
import type { HttpAnswer } from '../http/client.ts';
import { withCredential } from '../http/credential.ts';
import { createServiceClock } from '../http/service-clock.ts';
import { filesIn, requireIdentity } from '../http/settings.ts';
import { readNamedEdek, writeNamedEdek } from '../edek.ts';
import type { AwsConfig } from './config.ts';
import { awsIdentity } from './credentials.ts';
import { signRequest } from './sigv4.ts';

const EDEK_VERSION = 0;
const ALIAS = /^[A-Za-z0-9/_-]{1,250}$/;

const describedSchema = z.object({ KeyMetadata: z.object({ KeyId: z.string().min(1) }) });
const dataKeySchema = z.object({ Plaintext: z.base64(), CiphertextBlob: z.base64() });
const plaintextSchema = z.object({ Plaintext: z.base64() });
const errorSchema = z.object({ __type: z.string().max(200) });

const THROTTLING = new Set([
  'ThrottlingException',
  'LimitExceededException',
  'RequestLimitExceeded',
  'TooManyRequestsException',
]);
const WRONG_CIPHERTEXT = new Set(['InvalidCiphertextException', 'IncorrectKeyException']);
const NO_SUCH_KEY = new Set(['NotFoundException', 'InvalidArnException']);
/** The credentials were not taken: expired, replaced, or signed at the wrong time. */
const NOT_LET_IN = new Set([
  'UnrecognizedClientException',
  'ExpiredTokenException',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'IncompleteSignature',
  'RequestExpired',
]);

/** Makes the key service of a configuration. */
export function awsKms(config: AwsConfig, setting: KmsSetting): Kms {
  const { outbound, now = Date.now, timeoutMs } = setting;
  const { region, endpointUrl: url } = config;
  for (const file of filesIn(config.tls)) requireIdentity(outbound, `the file ${file}`, [url]);
  const identity = awsIdentity(config, setting);
  const http = createHttpClient({ outbound, tls: config.tls, timeoutMs });
  const clock = createServiceClock(now);

  async function sign(operation: string, body: string): Promise<HttpAnswer> {
    return withCredential(
      identity.source,
      (credentials) => {
        const headers = {
          'content-type': 'application/x-amz-json-1.1',
          'x-amz-target': `TrentService.${operation}`,
        };
        const request = { method: 'POST', url, headers, body } as const;
        const scope = { region, service: 'kms', at: new Date(clock.now()) };
        return http.send({ ...request, headers: signRequest(request, credentials, scope) });
      },
      (answer) => NOT_LET_IN.has(errorOf(answer) ?? ''),
    );
  }

  async function ask<S extends z.ZodType>(operation: string, body: object, schema: S): Promise<z.output<S>> {
    const text = JSON.stringify(body);
    let answer = await sign(operation, text);
    if (NOT_LET_IN.has(errorOf(answer) ?? '') && clock.follow(answer)) answer = await sign(operation, text);
    if (answer.status !== 200) throw failure(answer, operation);
    return answer.json(schema);
  }

  return {
    async resolveAlias(alias) {
      if (!ALIAS.test(alias)) return undefined;
      try {
        const found = await ask('DescribeKey', { KeyId: `alias/${alias}` }, describedSchema);
        return found.KeyMetadata.KeyId;
      } catch (error) {
        if (error instanceof UnknownKey) return undefined;
        throw error;
      }
    },
    async generateDek(kekId) {
      const made = await ask('GenerateDataKey', { KeyId: kekId, KeySpec: 'AES_256' }, dataKeySchema);
      const wrapped = Buffer.from(made.CiphertextBlob, 'base64');
      return {
        dek: Buffer.from(made.Plaintext, 'base64'),
        edek: writeNamedEdek({ kekId, wrapped }, EDEK_VERSION),
      };
    },
    kekOf: (edek) => readNamedEdek(edek, EDEK_VERSION).kekId,
    async decryptEdek(edek) {
      const { kekId, wrapped } = readNamedEdek(edek, EDEK_VERSION);
      const body = { KeyId: kekId, CiphertextBlob: wrapped.toString('base64') };
      return Buffer.from((await ask('Decrypt', body, plaintextSchema)).Plaintext, 'base64');
    },
    close() {
      identity.close();
      http.close();
    },
  };
}

/** The name of an error, which may come after a namespace and before an address. */
function errorOf(answer: HttpAnswer): string | undefined {
  if (answer.status === 200) return undefined;
  const [, name] = /^(?:[\w.]+#)?(\w+)/.exec(answer.jsonIfAny(errorSchema)?.__type ?? '') ?? [];
  return name;
}

function failure(answer: HttpAnswer, operation: string): Error {
  const name = errorOf(answer) ?? '';
  const who = `AWS KMS, ${operation}: ${name || 'it'}`;
  if (NO_SUCH_KEY.has(name)) return new UnknownKey('the key that AWS was asked for');
  if (WRONG_CIPHERTEXT.has(name)) return new BadEnvelope('AWS does not unwrap its data key');
  if (THROTTLING.has(name)) return new KmsThrottled(who);
  if (name === 'ValidationException' && operation === 'Decrypt')
    return new BadEnvelope('AWS does not take its data key');
  return failureOf(answer, who);
}
