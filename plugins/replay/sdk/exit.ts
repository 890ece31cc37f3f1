/** What a guard does when its process is about to end. */
export interface ExitHandler {
  /** There is something to end or to send. */
  readonly hasWork: () => boolean
  /** Ends what is open and sends what waits, gives up the rest if this is `forGood`; resolves in good time whatever happens. */
  readonly exit: (by: string, forGood: boolean) => Promise<void>
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
/** Marks listeners of this library, also of another copy of it, so that none takes them for the application's. */
const LISTENER_MARK = Symbol.for('guard-gateway.sdk.exit')

const guards = new Set<ExitHandler>()

/** Has `guard` told before the process ends, all guards by one set of listeners; returns how to stop that. */
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
  // with work the event is emitted again when that is done
  if ([...guards].some((guard) => guard.hasWork())) void exitAll('beforeExit', true)
}

const onSignal = (signal: NodeJS.Signals): void => {
  const applicationListens = process.listeners(signal).some((listener) => !(LISTENER_MARK in listener))
  // taken away at once, so that a second signal ends the process without delay
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
