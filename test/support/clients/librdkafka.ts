/** Configuration of librdkafka, which is behind confluent-kafka and kcat. */
import type { Security } from '../kafka/security.ts';

/** The keys for a way to connect. */
export function librdkafkaSecurity({ ca, client, sasl }: Security): Record<string, string> {
  return {
    'security.protocol': `${sasl ? 'sasl_' : ''}${ca === undefined ? 'plaintext' : 'ssl'}`,
    ...(ca === undefined ? {} : { 'ssl.ca.location': ca }),
    ...(client ? { 'ssl.certificate.location': client.cert, 'ssl.key.location': client.key } : {}),
    ...(sasl
      ? { 'sasl.mechanism': sasl.mechanism, 'sasl.username': sasl.username, 'sasl.password': sasl.password }
      : {}),
  };
}
