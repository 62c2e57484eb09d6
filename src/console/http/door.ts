/** Who is let in, and what they are shown. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SessionView } from '../api.ts';
import type { ConsoleSource } from '../source.ts';
import { localRefusal } from './guard.ts';
import type { Refusal } from './guard.ts';
import { sendJson } from './send.ts';

export interface Viewer {
  /** The same for the same person, and for nobody else. */
  id: string;
  source: ConsoleSource;
}

export interface Door {
  /** Why a request is not even looked at. */
  refusal(request: IncomingMessage, port: number): Refusal | undefined;
  /** Who asks; undefined where nobody is logged in. */
  admit(request: IncomingMessage): Promise<Viewer | undefined>;
  /** Answers for `/session`: who is logged in, and how one gets in and out. */
  session(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** On this machine: whoever can connect may look. */
export function openDoor(source: ConsoleSource): Door {
  const anybody = { id: 'anybody', source };
  const session: SessionView = { login: false, sees: source.sees };
  return {
    refusal: localRefusal,
    admit: async () => anybody,
    session: async (_request, response) => sendJson(response, 200, session),
  };
}
