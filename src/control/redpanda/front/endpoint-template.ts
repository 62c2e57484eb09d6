/** `endpointTemplate`, a Go template: as much of it as names of brokers need. Pure. */
import { HOST_IP_TOKEN, idToken } from '../host-names.ts';

const ACTION = /\{\{([^{}]*)\}\}/g;
const ADD = /^add\s+(?:\.Index\s+(\d{1,5})|(\d{1,5})\s+\.Index)$/;

/** The same with our tokens; or what is wrong with it. */
export function readTemplate(template: string): { pattern: string } | { problem: string } {
  const unknown: string[] = [];
  const pattern = template.replaceAll(ACTION, (whole, inner: string) => {
    const action = inner.trim();
    const [matched, after, before] = ADD.exec(action) ?? [];
    if (matched !== undefined) return idToken(Number(after ?? before));
    if (action === '.Index') return idToken(0);
    if (action === '.HostIP') return HOST_IP_TOKEN;
    unknown.push(whole);
    return '';
  });
  if (unknown.length > 0 || pattern.includes('{{'))
    return {
      problem: `${unknown[0] ?? 'an action that is not closed'} is not understood; use {{.Index}}, {{add .Index 1}} and {{.HostIP}}`,
    };
  if (!pattern.includes('$('))
    return { problem: 'put {{.Index}} into it: each broker needs a name of its own' };
  return { pattern };
}
