import type { Per, Period } from 'guard-gateway/core'
import type { Calendar, Window } from '#lib/time'
import { addUsage, noUsage, type Usage } from '../history/usage.ts'

/** When the next section of the calendar begins, in words. */
export const nextText = (per: Per, window: Window, calendar: Calendar): string => {
  const at = calendar.text(window.end)
  const time = per === 'minute' || per === 'hour' ? at.slice(-5) : at
  return `the next ${per} begins at ${time} ${calendar.zone}`
}

interface ProjectUse {
  readonly used: Usage
  /** Requests without an agent stand under the empty name. */
  readonly agents: Map<string, Usage>
}

/** What came in one stretch of the calendar has used: by project, and of each by agent. A request belongs, with all it uses, to the stretch in which it arrived. */
export class WindowUse {
  readonly per: Per
  readonly window: Window
  /** When the next stretch starts, in words. */
  readonly next: string
  readonly #projects = new Map<string, ProjectUse>()

  constructor(per: Per, window: Window, calendar: Calendar) {
    this.per = per
    this.window = window
    this.next = nextText(per, window, calendar)
  }

  holds(at: number): boolean {
    return at >= this.window.start && at < this.window.end
  }

  add(project: string, agent: string | null, more: Partial<Usage>): void {
    let known = this.#projects.get(project)
    if (known === undefined) {
      known = { used: noUsage(), agents: new Map() }
      this.#projects.set(project, known)
    }
    addUsage(known.used, more)
    const name = agent ?? ''
    let own = known.agents.get(name)
    if (own === undefined) {
      own = noUsage()
      known.agents.set(name, own)
    }
    addUsage(own, more)
  }

  /** Undefined: nothing so far. */
  of(scope: Period['scope'], project: string, agent: string | null): Readonly<Usage> | undefined {
    const known = this.#projects.get(project)
    return scope === 'project' ? known?.used : known?.agents.get(agent ?? '')
  }

  /** The agents of a project that have used something; null stands for all requests without one. */
  agents(project: string): readonly (string | null)[] {
    return [...(this.#projects.get(project)?.agents.keys() ?? [])].map((name) => (name === '' ? null : name))
  }
}
