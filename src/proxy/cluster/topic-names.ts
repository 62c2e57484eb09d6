/** Names of topics by their ids. An id never gets another name, so what is known stays true; the oldest go first. */
export interface TopicNames {
  get(id: string): string | undefined;
  learn(id: string, name: string): void;
}

const MOST = 50_000;

export function createTopicNames(most = MOST): TopicNames {
  const names = new Map<string, string>();
  return {
    get: (id) => names.get(id),
    learn(id, name) {
      names.set(id, name);
      const oldest = names.size > most ? names.keys().next().value : undefined;
      if (oldest !== undefined) names.delete(oldest);
    },
  };
}
