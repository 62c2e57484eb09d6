import type { VerifyToken } from '../../../crypto/tokens/verifier.ts';
import { tokenIn } from '../../../kafka/sasl.ts';
import type { Mechanism, Step } from './exchange.ts';

const NOTHING = Buffer.alloc(0);

/** OAUTHBEARER: a token that an issuer whom we trust has signed. */
export function oauthMechanism(verify: VerifyToken): Mechanism {
  const step = async (message: Buffer): Promise<Step> => {
    const verified = await verify(tokenIn(message) ?? '');
    return 'refused' in verified ? verified : { ...verified, last: NOTHING };
  };
  return { name: 'OAUTHBEARER', start: () => ({ step }) };
}
