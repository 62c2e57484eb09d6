/** What is installed in clusters that are joined. */
import { VERSION_LABEL } from '../../control/shared/version-label.ts';
import { VERSION } from '../../ops/version.ts';
import type { OperatorFacts } from '../check/facts.ts';

export interface Program {
  image: string;
  /** That of the image, where it is known. */
  version: string | undefined;
}

/** The image that was asked for, else what an operator runs, else that of this command. */
export function programOf(
  { image, defaultImage }: { image?: string; defaultImage: string },
  operator: Pick<OperatorFacts, 'image' | 'labels'> | undefined,
): Program {
  if (image === undefined && operator?.image !== undefined)
    return { image: operator.image, version: operator.labels?.[VERSION_LABEL] };
  return { image: image ?? defaultImage, version: VERSION };
}
