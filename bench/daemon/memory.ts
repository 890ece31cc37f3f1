import { chats } from '../load/shapes.ts'
import type { Daemon } from './daemon.ts'
import { type DaemonFigure, type FigureOptions, figureOf, type Unit, type Values } from './figures.ts'
import type { Fleet } from './fleet.ts'
import type { DaemonPlan } from './plan.ts'
import type { ProcessUsage } from './proc.ts'

const MB = 1_048_576
const LEVELS = [0.6, 0.8, 1]
const IDLE_CPU = { must: { value: { package: 0.1, sources: 0.1 } }, base: 100 }

/** What new targets use while they do nothing. */
export const idleFigures = async (fleet: Fleet, plan: DaemonPlan): Promise<readonly DaemonFigure[]> => {
  await wait(plan.settle_ms)
  const before = usages(fleet)
  await wait(plan.idle_ms)
  const after = usages(fleet)
  const share = valuesOf(fleet, (daemon) => coreShare(before.get(daemon), after.get(daemon), plan.idle_ms))
  return [
    one(
      'rss_idle',
      'RSS, idle',
      'MB',
      valuesOf(fleet, (daemon) => rss(before.get(daemon))),
      { must: { ratio: 1.5 } },
    ),
    one('cpu_idle', 'CPU when idle, of a core', '%', share, IDLE_CPU),
  ]
}

/** What targets use after chats, which each gets without a pause, and after a pause. */
export const chatFigures = async (fleet: Fleet, plan: DaemonPlan): Promise<readonly DaemonFigure[]> => {
  const idle: Promise<void>[] = []
  const found = new Map<string, Record<string, number>>()
  const note = (id: string, { program: { name } }: Daemon, value: number): void => {
    found.set(id, { ...found.get(id), [name]: value })
  }
  for (const daemon of fleet.daemons) {
    const before = daemon.usage()
    await fleet.load(daemon, chats, plan.chats.first)
    const after = daemon.usage()
    note('first', daemon, rss(after))
    note('written', daemon, ((after.written_bytes - before.written_bytes) / plan.chats.first) * (1000 / 1024))
    let sent = plan.chats.first
    for (const level of LEVELS) {
      const upTo = Math.max(sent, Math.round(plan.chats.all * level))
      if (upTo > sent) await fleet.load(daemon, chats, upTo - sent)
      sent = upTo
      note(String(level), daemon, rss(daemon.usage()))
    }
    // the pause begins with the last chat of each, while others are still asked
    idle.push(afterPause(daemon, plan.after_ms, note))
  }
  await Promise.all(idle)
  const of = (id: string): Values => found.get(id) ?? {}
  const { first, all } = plan.chats
  const pause = `${plan.after_ms / 1000} s after ${all} chats`
  return [
    one(`rss_${first}`, `RSS after ${first} chats of 4 KB`, 'MB', of('first'), { must: { ratio: 2.5 } }),
    ...LEVELS.map((level) => {
      const count = Math.round(all * level)
      const options = level === 1 ? { must: { ratio: 3 } } : {}
      return one(`rss_${all}_${level * 100}`, `RSS after ${count} chats`, 'MB', of(String(level)), options)
    }),
    one(`rss_${all}_idle_${plan.after_ms}`, `RSS ${pause}`, 'MB', of('pause')),
    one(`cpu_idle_after_${all}`, `CPU ${pause}, of a core`, '%', of('cpu'), IDLE_CPU),
    one('written', 'written per 1,000 chats of 4 KB', 'KB', of('written'), { base: (1000 * bodyBytes()) / 1024 }),
  ]
}

const afterPause = async (
  daemon: Daemon,
  pause_ms: number,
  note: (id: string, daemon: Daemon, value: number) => void,
): Promise<void> => {
  const before = daemon.usage()
  await wait(pause_ms)
  const after = daemon.usage()
  note('pause', daemon, rss(after))
  note('cpu', daemon, coreShare(before, after, pause_ms))
}

const one = (id: string, title: string, unit: Unit, values: Values, options: FigureOptions = {}): DaemonFigure =>
  figureOf(id, title, unit, [values], options)

const rss = (usage: ProcessUsage | undefined): number => (usage?.rss_bytes ?? Number.NaN) / MB

/** Per cent of a core. */
const coreShare = (before: ProcessUsage | undefined, after: ProcessUsage | undefined, ms: number): number =>
  ((after?.cpu_us ?? Number.NaN) - (before?.cpu_us ?? 0)) / ms / 10

const usages = ({ daemons }: Fleet): ReadonlyMap<Daemon, ProcessUsage> =>
  new Map(daemons.map((daemon) => [daemon, daemon.usage()]))

const valuesOf = ({ daemons }: Fleet, value: (daemon: Daemon) => number): Values =>
  Object.fromEntries(daemons.map((daemon) => [daemon.program.name, value(daemon)]))

const bodyBytes = (): number => chats.conversation.bytes.length + chats.conversation.tail.length

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
