/** Loads files of tests into this process, each as a suite of its own. */
import asyncHooks from 'node:async_hooks'
import childProcess from 'node:child_process'
import { createRequire, flushCompileCache, syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { childrenSeconds, ownSeconds, writeCost } from './costs.ts'

const { createHook } = asyncHooks
/**
 * The runner finds the suite that a test is declared in by the asynchronous resource under way. It would follow every promise too, which
 * takes a fifth of all the time and says nothing here, since to require a file waits for none.
 */
asyncHooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false })
const { after, before, describe, it } = await import('node:test')
asyncHooks.createHook = createHook

// an error that nobody catches fails the process, but the runner then knows no test to name
for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, (error) => console.error(error))

const require = createRequire(import.meta.url)

/** The file that is loaded, or whose tests run. */
let current = ''
let processes = 0

/** The process that any test may start: the parsers of untrusted texts have it, and keep it. */
const PARSER = join('parser-process', 'program')

const METHODS = ['spawn', 'spawnSync', 'fork', 'exec', 'execSync', 'execFile', 'execFileSync'] as const

const watchProcesses = (): void => {
  for (const method of METHODS) {
    const original = childProcess[method] as Start & { readonly [promisify.custom]?: Start }
    const watched: Start = Object.assign(watchedStart(original), original)
    const promised = original[promisify.custom]
    if (promised !== undefined) Object.assign(watched, { [promisify.custom]: watchedStart(promised) })
    Object.assign(childProcess, { [method]: watched })
  }
  syncBuiltinESMExports()
}

type Start = (...args: readonly unknown[]) => unknown

const watchedStart =
  (start: Start): Start =>
  (...args) => {
    if (String(args[0]).includes(PARSER)) return start(...args)
    processes++
    if (process.env.GUARD_TEST_PART === 'fast')
      throw new Error(`${current} starts a process; a file with such tests is named *.system.test.ts.`)
    return start(...args)
  }

const left = (): void => {
  console.error('The tests have ended, but these keep their process alive:', process.getActiveResourcesInfo())
  process.exit(1)
}

/** Each file is loaded before the next one; one that cannot be loaded is a failed test. */
export const load = (files: readonly string[]): void => {
  watchProcesses()
  for (const file of files)
    describe(file, () => {
      current = file
      const unloaded = ownSeconds()
      let [cpu, children, wall, started] = [0, 0, 0, 0]
      before(() => {
        current = file
        ;[cpu, children, wall, started] = [ownSeconds(), childrenSeconds(), performance.now(), processes]
      })
      after(() => {
        const shared = process.env.GUARD_TEST_SHARED
        if (shared !== undefined)
          writeCost(shared, {
            file,
            cpu: ownSeconds() - cpu,
            children: childrenSeconds() - children,
            loading,
            first: file === files[0],
            wall: (performance.now() - wall) / 1000,
            processes: processes - started,
          })
        // now, not when it ends: the processes that begin meanwhile, and all children, then need not compile the same
        flushCompileCache()
        // what is left open must not keep the others waiting
        if (file === files.at(-1)) setTimeout(left, 60_000).unref()
      })
      try {
        require(join(import.meta.dirname, file))
      } catch (error) {
        it(`${file} loads`, () => {
          throw error
        })
      }
      const loading = ownSeconds() - unloaded
    })
}
