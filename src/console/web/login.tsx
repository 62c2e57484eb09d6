import { useState } from 'preact/hooks';
import { logIn } from './session.ts';

const LINE = 'kubectl create token ACCOUNT -n NAMESPACE';

export function Login() {
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const token = (form.elements.namedItem('token') as HTMLInputElement).value.trim();
    setBusy(true);
    const refused = await logIn(token);
    setBusy(false);
    setProblem(refused);
    form.reset();
  };
  return (
    <main id="main" class="login">
      <h1>Isthmus</h1>
      <form onSubmit={(event) => void submit(event)}>
        <label>
          A bearer token of this cluster
          <input name="token" type="password" autocomplete="off" required maxLength={8192} />
        </label>
        <button disabled={isBusy}>Log in</button>
        <p role="alert" class="refused">
          {problem}
        </p>
      </form>
      <p class="quiet">
        You see what you may read. <code>{LINE}</code> gives you a token of a ServiceAccount; whoever runs the
        cluster may have another way.
      </p>
    </main>
  );
}
