/** Several clusters in one kubeconfig, as people have them who join clusters. */
import { parse, stringify } from 'yaml';

interface Config {
  clusters: { cluster: object }[];
  users: { user: object }[];
}

/** A context for each, by the name that it is given; the first is the current one. */
export function inOneKubeconfig(texts: Readonly<Record<string, string>>): string {
  const all = Object.entries(texts).map(([name, text]) => {
    const { clusters, users } = parse(text) as Config;
    return {
      cluster: { name, cluster: clusters[0]?.cluster },
      user: { name, user: users[0]?.user },
      context: { name, context: { cluster: name, user: name } },
    };
  });
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': all[0]?.context.name,
    clusters: all.map(({ cluster }) => cluster),
    users: all.map(({ user }) => user),
    contexts: all.map(({ context }) => context),
  });
}
