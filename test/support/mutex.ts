export * from '../../src/store/embedded/mutex.ts';
