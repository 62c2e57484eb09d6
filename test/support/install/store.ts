export * from '../../../src/store/embedded/cache.ts';
