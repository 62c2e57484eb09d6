import { MalformedMessage } from '../../kafka/malformed.ts';
import { OverBudget } from '../net/byte-budget.ts';
import { BadTraffic } from './frame-stream.ts';

/** Why a session is cut that has met this error: what came in, what it would cost, or a fault of ours. */
export function reasonOf(error: unknown): 'bad_traffic' | 'memory' | 'internal' {
  if (error instanceof OverBudget) return 'memory';
  return error instanceof BadTraffic || error instanceof MalformedMessage ? 'bad_traffic' : 'internal';
}
