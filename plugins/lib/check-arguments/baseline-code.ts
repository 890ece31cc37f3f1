import { setFlagsFromString } from 'node:v8'

/** V8 version that these flags were tested with. Other versions might reject them. */
const ENGINE = '13.6.'

const BASELINE = ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering']
const OPTIMIZING = ['--no-liftoff-only', '--wasm-tier-up', '--wasm-dynamic-tiering']

/**
 * Runs a WebAssembly program for the first time. What V8 compiles in this run stays baseline code. A parser is one function of
 * several 100 KB, and the optimizing compiler takes 500 MB to make it twice as fast.
 */
export const inBaselineCode = <T>(run: () => T): T => {
  if (!process.versions.v8.startsWith(ENGINE)) return run()
  for (const flag of BASELINE) setFlagsFromString(flag)
  try {
    return run()
  } finally {
    for (const flag of OPTIMIZING) setFlagsFromString(flag)
  }
}
