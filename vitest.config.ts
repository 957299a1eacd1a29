import { defineConfig } from 'vitest/config'

const SECOND = 1000

export default defineConfig({
  test: {
    // Every file gets its own process: the addon keeps threads and locks of its own, and the files must not meet there.
    pool: 'forks',
    // Half of a small machine is busy with what the tests start.
    maxWorkers: 2,
    // Groups run one after another, quick ones first: a mistake shows in seconds.
    projects: [
      {
        test: {
          name: 'unit',
          include: ['__test__/**/*.test.ts', 'bench/**/*.test.ts'],
          exclude: ['__test__/race/**', '__test__/differential/**', '__test__/dsh/**'],
          testTimeout: 20 * SECOND,
          hookTimeout: 20 * SECOND,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          // Keeps every core busy, so nothing runs beside it.
          name: 'race',
          include: ['__test__/race/**/*.test.ts'],
          testTimeout: 60 * SECOND,
          hookTimeout: 600 * SECOND,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'differential',
          include: ['__test__/differential/**/*.test.ts'],
          testTimeout: 300 * SECOND,
          hookTimeout: 60 * SECOND,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          // Installs the published command, so its hooks may wait for a registry.
          name: 'dsh',
          include: ['__test__/dsh/**/*.test.ts'],
          testTimeout: 120 * SECOND,
          hookTimeout: 600 * SECOND,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
