import { render } from 'preact';
import { Fleet } from './fleet.tsx';
import { KEYS, onKey } from './keyboard.ts';
import { Keys } from './keys.tsx';
import { Login } from './login.tsx';
import { ObjectPage } from './object.tsx';
import { Waiting } from './parts.tsx';
import { logOut, refreshSession, session } from './session.ts';
import { connection } from './stream.ts';
// oxlint-disable-next-line import/no-unassigned-import -- a style is only loaded
import './style.css';
import { Topology } from './topology.tsx';
import { Traffic } from './traffic.tsx';
import { addressOf, followLinks, place } from './url.ts';
import type { ViewName } from './url.ts';

const PAGES: Record<ViewName, () => preact.JSX.Element> = {
  fleet: Fleet,
  topology: Topology,
  traffic: Traffic,
  keys: Keys,
  object: ObjectPage,
};

const TABS: readonly [ViewName, string][] = [
  ['fleet', 'Fleet'],
  ['topology', 'Topology'],
  ['traffic', 'Traffic'],
  ['keys', 'Keys and names'],
];

const CONNECTIONS = { connecting: 'connecting …', live: 'live', lost: 'not connected: what is shown is old' };

function App() {
  const { login, user } = session.value ?? {};
  if (login === undefined) return <Waiting />;
  return login && user === undefined ? <Login /> : <Views />;
}

function Views() {
  const { view } = place.value;
  const Page = PAGES[view];
  document.title = `${TABS.find(([name]) => name === view)?.[1] ?? (place.value.params['name'] || 'Object')} · Isthmus`;
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <header>
        <span class="brand">Isthmus</span>
        <nav aria-label="Views">
          {TABS.map(([name, title]) => (
            <a key={name} href={addressOf(name)} {...(name === view && { 'aria-current': 'page' as const })}>
              {title}
            </a>
          ))}
        </nav>
        <span class={`connection ${connection.value}`} role="status">
          {CONNECTIONS[connection.value]}
        </span>
        <Who />
        <button type="button" onClick={() => document.querySelector<HTMLDialogElement>('#help')?.showModal()}>
          Keys <kbd>?</kbd>
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        <Page />
      </main>
      <Help />
    </>
  );
}

/** Where one has logged in. */
const Who = () =>
  session.value?.user === undefined ? null : (
    <>
      <span class="who">{session.value.user}</span>
      <button type="button" onClick={() => void logOut()}>
        Log out
      </button>
    </>
  );

const Help = () => (
  <dialog id="help" aria-labelledby="help-title">
    <h2 id="help-title">Keys</h2>
    <dl>
      {KEYS.map(([key, what]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
    <form method="dialog">
      <button>Close</button>
    </form>
  </dialog>
);

document.addEventListener('keydown', onKey);
document.addEventListener('click', followLinks);
void refreshSession();
render(<App />, document.querySelector('#app')!);
