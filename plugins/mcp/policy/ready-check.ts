import { GuardError } from 'guard-gateway/core'
import type { CheckLint } from 'guard-gateway/lib/mcp-check'
import type { PolicyFault, PolicyPath } from './fault.ts'

/** What checks of arguments and of results have in common. */
interface Preparable {
  readonly id: string
  prepare?(): Promise<void>
  compile?(options: never): Promise<unknown>
  lint?(options: never): readonly CheckLint[]
}

/** A check's options as `find` gets them, and what to warn about. */
export interface ReadyOptions {
  readonly options: unknown
  readonly lints: readonly CheckLint[]
}

/** Loads what a check needs and works its options out; undefined, and a fault noted, if that fails. */
export const readyOptions = async (
  check: Preparable,
  options: unknown,
  path: PolicyPath,
  faults: PolicyFault[],
): Promise<ReadyOptions | undefined> => {
  try {
    await makeReady(check)
    const lints = check.lint?.(options as never) ?? []
    return { lints, options: check.compile === undefined ? options : await check.compile(options as never) }
  } catch (error) {
    faults.push({ path, message: reasonOf(error, check) })
    return undefined
  }
}

const reasonOf = (error: unknown, { id }: Preparable): string =>
  error instanceof GuardError && error.code === 'INVALID_POLICY'
    ? error.message
    : `the check ${id} cannot be made ready: ${error instanceof Error ? error.message : String(error)}`

const prepared = new WeakMap<Preparable, Promise<void>>()

/** What a check needs is loaded once; a load that failed is tried again. */
const makeReady = async (check: Preparable): Promise<void> => {
  const loading = prepared.get(check) ?? Promise.resolve(check.prepare?.())
  prepared.set(check, loading)
  try {
    await loading
  } catch (error) {
    prepared.delete(check)
    throw error
  }
}
