/** Callbacks of a guard for the exit of its process. */
export interface ExitHandler {
  /** True if spans are open or records are queued. */
  readonly hasWork: () => boolean
  /** Ends open spans and sends queued records. `forGood` drops the unsent rest. Always resolves, within a time limit. */
  readonly exit: (by: string, forGood: boolean) => Promise<void>
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
/** Marks the listeners of the SDK. A second copy of the SDK then does not treat them as listeners of the application. */
const LISTENER_MARK = Symbol.for('guard-gateway.sdk.exit')

const guards = new Set<ExitHandler>()

/** Registers a guard for the exit of the process. All guards share one set of listeners. Returns the function that unregisters it. */
export const onExit = (guard: ExitHandler): (() => void) => {
  if (guards.size === 0) listen()
  guards.add(guard)
  return () => {
    if (guards.delete(guard) && guards.size === 0) unlisten()
  }
}

const exitAll = async (by: string, forGood: boolean): Promise<void> => {
  await Promise.all([...guards].map((guard) => guard.exit(by, forGood)))
}

const onBeforeExit = (): void => {
  // asynchronous work emits the event again when it ends
  if ([...guards].some((guard) => guard.hasWork())) void exitAll('beforeExit', true)
}

const onSignal = (signal: NodeJS.Signals): void => {
  const applicationListens = process.listeners(signal).some((listener) => !(LISTENER_MARK in listener))
  // removed first, so that a second signal ends the process at once
  if (!applicationListens) process.off(signal, onSignal)
  void exitAll(signal, !applicationListens).then(() => {
    if (!applicationListens) process.kill(process.pid, signal)
  })
}
Object.defineProperty(onSignal, LISTENER_MARK, { value: true })

const listen = (): void => {
  process.on('beforeExit', onBeforeExit)
  for (const signal of SIGNALS) process.on(signal, onSignal)
}

const unlisten = (): void => {
  process.off('beforeExit', onBeforeExit)
  for (const signal of SIGNALS) process.off(signal, onSignal)
}
