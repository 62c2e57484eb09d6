/** What is to be known about a code: what it says, how it comes about, and what to do about it. */
export interface CodeEntry {
  means: string;
  why: string;
  cure: string;
}

/** For what is no problem at all. */
export const NOTHING_TO_DO = 'Nothing.';
