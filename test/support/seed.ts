/**
 * Loaded before every test file. With a number in `ISTHMUS_TEST_SEED`, property tests draw the same cases in every run;
 * without it they draw others each time, and a failure prints the seed that found it.
 */
import fc from 'fast-check';

const { ISTHMUS_TEST_SEED: given } = process.env;
if (given) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given) });

/** For tests that draw by themselves. */
export const SEED = given ? Number(given) : Date.now() % 2 ** 31;
