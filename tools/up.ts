/** `npm run up`: builds the console's pages if they are not there, then runs `isthmus up`. */
import { runProgram } from '../src/cli/program.ts';
import { buildPages } from './console-pages.ts';

await buildPages();
process.exit(await runProgram(['up', ...process.argv.slice(2)]));
