/** A tree for a terminal. */
import { paint } from '../paint.ts';
import type { HealthState } from '../../view/health.ts';
import type { TreeNode } from '../../view/tree.ts';

const SYMBOLS: Record<HealthState, string> = { ready: '✔', warning: '‼', notReady: '✖', unknown: '·' };
const COLOURS = { ready: 'green', warning: 'yellow', notReady: 'red', unknown: 'dim' } as const;

/** More of one kind below one node than this are counted, not listed: the worst are shown. */
const MOST_OF_A_KIND = 10;
const ORDER: readonly HealthState[] = ['notReady', 'warning', 'unknown', 'ready'];

export function treeText(tree: TreeNode, colors: boolean): string {
  return `${linesOf(tree, colors).join('\n')}\n`;
}

function linesOf(node: TreeNode, colors: boolean): string[] {
  const shown = grouped(node.children);
  return [
    lineOf(node, colors),
    ...shown.flatMap((child, index) => {
      const isLast = index === shown.length - 1;
      const [first = '', ...rest] = typeof child === 'string' ? [child] : linesOf(child, colors);
      return [`${isLast ? '└─' : '├─'} ${first}`, ...rest.map((line) => `${isLast ? '  ' : '│ '} ${line}`)];
    }),
  ];
}

function lineOf({ kind, name, health: { state, reason, message } }: TreeNode, colors: boolean): string {
  const why = reason === '' || state === 'ready' ? '' : `  ${reason}${message === '' ? '' : `: ${message}`}`;
  return `${paint(SYMBOLS[state], COLOURS[state], colors)} ${kind}/${name}${why}`;
}

/** Children in their order; of a kind with too many the worst, and how many are left out. */
function grouped(children: readonly TreeNode[]): (TreeNode | string)[] {
  return [...Map.groupBy(children, ({ kind }) => kind)].flatMap(([kind, all]) => {
    if (all.length <= MOST_OF_A_KIND) return all;
    const worst = all.toSorted((a, b) => ORDER.indexOf(a.health.state) - ORDER.indexOf(b.health.state));
    const states = Map.groupBy(worst.slice(MOST_OF_A_KIND), ({ health }) => health.state);
    const counts = [...states].map(([state, some]) => `${SYMBOLS[state]} ${some.length}`).join(', ');
    return [
      ...worst.slice(0, MOST_OF_A_KIND),
      `… and ${all.length - MOST_OF_A_KIND} more of ${kind} (${counts})`,
    ];
  });
}
