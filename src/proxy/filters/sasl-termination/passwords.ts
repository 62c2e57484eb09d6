import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { plainIn } from '../../../kafka/sasl.ts';
import { scramServer } from '../../../kafka/scram-server.ts';
import type { ScramMechanism } from '../../../kafka/scram.ts';
import type { Mechanism, Step } from './exchange.ts';

type Users = ReadonlyMap<string, string>;

const NOTHING = Buffer.alloc(0);

/** PLAIN: the password itself. A user that there is not takes as long as a password that is wrong. */
export function plainMechanism(users: Users): Mechanism {
  const key = randomBytes(32);
  const digest = (password: string) => createHmac('sha256', key).update(password).digest();
  const step = (message: Buffer): Step => {
    const login = plainIn(message);
    if (!login) return { refused: 'a message that is not of PLAIN' };
    const password = users.get(login.user);
    const isRight = timingSafeEqual(digest(login.password), digest(password ?? key.toString('hex')));
    if (password === undefined || !isRight) return { refused: 'no such user, or another password' };
    return { user: login.user, last: NOTHING };
  };
  return { name: 'PLAIN', start: () => ({ step }) };
}

/** SCRAM: a proof that the client knows the password. */
export function scramMechanism(name: ScramMechanism, users: Users): Mechanism {
  const server = scramServer(name, (user) => users.get(user));
  return {
    name,
    start() {
      const login = server.start();
      let rounds = 0;
      return {
        async step(message): Promise<Step> {
          if (++rounds === 1) {
            const challenge = await login.first(message.toString('utf8'));
            return challenge === undefined
              ? { refused: 'a message that is not of SCRAM' }
              : { challenge: Buffer.from(challenge) };
          }
          const done = login.final(message.toString('utf8'));
          if (!done) return { refused: 'no such user, or another password' };
          return { user: done.user, last: Buffer.from(done.message) };
        },
      };
    },
  };
}
