export * from '../../src/store/embedded/process.ts';
