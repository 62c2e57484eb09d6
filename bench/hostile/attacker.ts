/** A process that attacks until it is ended: `attacker.ts NAME PORTS` (JSON). Without a name it is an evil broker, and prints its port. */
import { attack, startEvilBroker } from './attacks.ts';
import type { AttackName, Ports } from './attacks.ts';

/** Whatever happens to who started it. */
const LONGEST_MS = 120_000;

const [name, ports] = process.argv.slice(2);
if (name === undefined) process.stdout.write(`${await startEvilBroker()}\n`);
else await attack(name as AttackName, JSON.parse(ports!) as Ports, AbortSignal.timeout(LONGEST_MS));
