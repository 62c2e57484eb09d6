/**
 * AES-256-GCM. Two implementations give the same bytes: OpenSSL called directly (about a quarter of the cost for small
 * records, which is all call overhead), and node:crypto where that cannot be had.
 */
import { ffiGcm } from './aes-gcm-ffi.ts';
import { nodeGcm } from './aes-gcm-node.ts';
import type { GcmImplementation } from './cipher.ts';

/** The fastest implementation that works here. */
export const aesGcm: GcmImplementation = ffiGcm() ?? nodeGcm;
