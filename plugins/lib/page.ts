import { type GuardError, Kind } from 'guard-gateway/core'
import type { Scope } from '#lib/principal'

declare module 'guard-gateway/core' {
  interface Services {
    documents: Documents
    charts: Charts
  }
}

/** Markup that is safe to send: everything interpolated into it was escaped. */
export interface Markup {
  readonly text: string
  toString(): string
}

/** A fault of a form that belongs to one of its fields; an empty name belongs to the form as a whole. */
export interface FieldFault {
  readonly field: string
  /** One sentence. */
  readonly message: string
}

/** A form that was sent and not taken: what was typed, and what is wrong with it. */
export interface Refusal {
  readonly form: string
  readonly fields: URLSearchParams
  readonly faults: readonly FieldFault[]
}

/** What a page may look at of its request. */
export interface Ask {
  /** Decoded path parameters by name. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** Path and query as they were asked for: what a form gives as `return_to`. */
  readonly url: string
  /** Scheme, host and port by which this gateway was reached. */
  readonly origin: string
  /** Milliseconds since 1970. */
  readonly now: number
  /** The form of this page that was refused just now. */
  readonly refused?: Refusal
}

/** What a page shows between navigation and end. */
export interface View {
  readonly title: string
  readonly main: Markup
  /** 200 if absent. */
  readonly status?: number
  /** Seconds after which a browser without script asks again. */
  readonly refresh_seconds?: number
  /** A path to go to instead, with 303. */
  readonly location?: string
}

/** A page of a feature. `id` is the feature's name, with what tells its pages apart: `replay/run`. */
export interface Page {
  readonly id: string
  /** Fastify's pattern: `/replay/:trace_id`. */
  readonly path: string
  /** The entry in the navigation; the key is pressed after `g`. */
  readonly nav?: {
    readonly label: string
    /** Lower comes first. */
    readonly order: number
    readonly key: string
    /** How many things wait for a person, shown beside the label and, with those of other pages, before each title; none for 0. */
    count?(): number | Promise<number>
  }
  /** What a key must be for to see it beyond loopback; `admin` if absent, except for the pages of Guard itself. */
  readonly scope?: Scope
  /** Throws GuardError for what the shell tells: not found, a wrong query. */
  render(ask: Ask): Promise<View>
}

/** A part of the page of what is going on now. `id` is the feature's name, with what tells its parts apart. */
export interface Panel {
  readonly id: string
  /** Lower comes first. */
  readonly order: number
  /** Begins with an `h2`; undefined where there is nothing to tell. One that throws is left out and reported. */
  render(ask: Ask): Promise<Markup | undefined>
}

/** What of a feature waits for a person. */
export interface Waiting {
  /** One `li` each, with the class `need`, `data-row` and an id; the most urgent first. */
  readonly lines: readonly Markup[]
  /** How many there are, those without a line included. */
  readonly total: number
  /** What stands below all lines: where the others are, and what one should know. */
  readonly note?: Markup
}

/** Tells what of a feature waits for a person, for the section of all that does. `id` is the feature's name, with what tells its sources apart. */
export interface WaitingSource {
  readonly id: string
  /** Lower comes first. */
  readonly order: number
  /** One that throws is left out and reported. */
  waiting(ask: Ask): Promise<Waiting>
}

/** What a feature knows of agents, for their pages. An agent is known by its id, or by the name that its programs send. */
export interface AgentSource {
  readonly id: string
  /** Lower comes first; one below 0 comes before the totals and sessions of the agent. */
  readonly order: number
  /** Agents that were seen lately, newest first, each once. */
  recent(): Promise<readonly string[]>
  /** A part of an agent's page that begins with an `h2`; undefined where the feature knows nothing of the agent. */
  section(agent: string, ask: Ask): Promise<Markup | undefined>
}

/** What a feature knows of a session, for its page. */
export interface SessionSource {
  readonly id: string
  /** Lower comes first. */
  readonly order: number
  /** A part of the page that begins with an `h2`; undefined where the feature knows nothing of the session. */
  section(session_id: string, ask: Ask): Promise<Markup | undefined>
}

/** A thing that a search found. */
export interface SearchHit {
  /** What it is, in the singular: `session`. */
  readonly kind: string
  /** Its id or name. */
  readonly title: string
  /** Path of the page that shows it. */
  readonly url: string
  /** What tells it from others of its kind. */
  readonly note?: string
}

/** Finds things of a feature by their ids and names, for the search field. */
export interface SearchSource {
  readonly id: string
  /** Lower comes first. */
  readonly order: number
  /** The ids and names that it knows, in the plural, as a list in a sentence: `session ids and names`. */
  readonly takes: string
  /** Things whose id or name is exactly this text; one that throws finds nothing and is reported. */
  find(text: string): Promise<readonly SearchHit[]>
  /** Where things are found that hold these words; undefined if the text has none. */
  words?(text: string): { readonly label: string; readonly url: string } | undefined
}

/** A form as it was sent. */
export interface Posted {
  readonly params: Readonly<Record<string, string>>
  readonly fields: URLSearchParams
  readonly now: number
}

/** What became of a form: done, with a notice's code and the id of what it is about, where to go instead of `return_to`, and the id of the row that it was about, which a list is then shown at; faults beside its fields; or a page to show at once. */
export type Sent =
  | { readonly notice?: string; readonly about?: string; readonly location?: string; readonly at?: string }
  | { readonly faults: readonly FieldFault[] }
  | { readonly view: View }

/** Takes a form of a page, `application/x-www-form-urlencoded`, below `/ui/`. */
export interface Form {
  readonly id: string
  /** Fastify's pattern: `/ui/runs/:trace_id/pin`. */
  readonly path: string
  /** What a key must be for to send it beyond loopback; `admin` if absent, except for the forms of Guard itself. */
  readonly scope?: Scope
  /** The pattern of the page that is shown when there is no `return_to`, and again when the form is refused; its parameters are the form's. */
  readonly page: string
  /** The sentences that the codes in `notice` stand for. */
  readonly notices: Readonly<Record<string, string>>
  /** What a page says in place of such a sentence about the thing of this id, as it stands by now; undefined: the sentence as it is. */
  tell?(code: string, about: string, ask: Pick<Ask, 'url' | 'now'>): Promise<Markup | undefined>
  /** Throws GuardError: one with a place of `path` becomes a fault of that field where the page has one, any other the page's error. */
  submit(posted: Posted): Promise<Sent>
}

/** A page of the guide that is made while the gateway runs, when the guide is first read. `id` is the last part of its address. */
export interface GuidePage {
  readonly id: string
  readonly title: string
  /** Markdown, without the title. */
  text(): string | Promise<string>
}

/** Whole documents, where pages are served. */
export interface Documents {
  /** Tells a person of an error. */
  error(error: GuardError, request: { readonly url: string; readonly request_id: string }): string
  /** A document without navigation and without anything about this gateway, for somebody who is not known. */
  bare(view: View): string
  /** A page with its status, for a feature that takes a form by itself. */
  page(page: Page, ask: Ask): Promise<{ readonly status: number; readonly text: string }>
}

/** Whose requests are charted, and where the charts stand. */
export interface ChartOptions {
  readonly ask: Pick<Ask, 'query' | 'url' | 'now'>
  readonly project_id?: string | undefined
  readonly agent_id?: string | undefined
  /** The page is the list of runs: its `since` and `until` are the time of the charts, and a range is chosen by `since`. */
  readonly isList?: boolean
}

/** Parameters of a page that choose what its charts show. */
export const CHART_PARAMETERS: readonly string[] = ['range', 'group', 'playground']

/** Charts of requests over time. */
export interface Charts {
  /** Charts that begin with an `h2`; undefined where no request is on record, or the time asked for is none. */
  strip(options: ChartOptions): Promise<Markup | undefined>
}

export const pageKind = new Kind<Page>('page', { path: 'text', render: 'function' })
export const formKind = new Kind<Form>('form', {
  path: 'text',
  page: 'text',
  notices: 'object',
  submit: 'function',
})
export const panelKind = new Kind<Panel>('panel', { order: 'number', render: 'function' })
export const waitingSourceKind = new Kind<WaitingSource>('waiting source', { order: 'number', waiting: 'function' })
export const agentSourceKind = new Kind<AgentSource>('agent source', {
  order: 'number',
  recent: 'function',
  section: 'function',
})
export const sessionSourceKind = new Kind<SessionSource>('session source', {
  order: 'number',
  section: 'function',
})
export const guidePageKind = new Kind<GuidePage>('guide page', { title: 'text', text: 'function' })
export const searchSourceKind = new Kind<SearchSource>('search source', {
  order: 'number',
  takes: 'text',
  find: 'function',
  'words?': 'function',
})
