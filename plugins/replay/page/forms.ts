import { type Gateway, GuardError } from 'guard-gateway/core'
import { type Html, html } from '#lib/html'
import type { Form, Posted } from '#lib/page'
import { type Edit, editRun, readEdit } from '../ingest/edit.ts'
import type { RunWriter } from '../write/run-writer.ts'

/** Notices of the forms; `runs-imported` and `runs-skipped` belong to the import form. */
const notices = {
  'run-pinned': 'Pinned. Retention leaves this run alone.',
  'run-unpinned': 'No longer pinned.',
  'run-tags-saved': 'Tags saved.',
  'run-failure-tag-saved': 'Failure tag saved.',
  'runs-imported': 'Imported.',
  'runs-skipped': 'Nothing was imported: every run of the file is here already.',
} as const
type Notice = keyof typeof notices

/** Forms of a run: pin, tags, failure tag. */
export const runForms = (gateway: Gateway, runWriter: RunWriter): readonly Form[] => {
  const form = (name: string, editOf: (fields: URLSearchParams) => readonly [Edit, Notice]): Form => ({
    id: `replay/${name}`,
    path: `/ui/runs/:trace_id/${name}`,
    page: '/replay/:trace_id',
    notices,
    submit: async ({ params, fields }: Posted) => {
      const [edit, notice] = editOf(fields)
      await editRun(gateway, runWriter, params.trace_id ?? '', edit)
      return { notice, at: `run-${params.trace_id}` }
    },
  })
  return [
    form('pin', (fields) => {
      const pinned = pinnedOf(fields.get('pinned'))
      return [{ pinned }, pinned ? 'run-pinned' : 'run-unpinned']
    }),
    form('tags', (fields) => [readEdit({ tags: tagsIn(fields.get('tags') ?? '') }), 'run-tags-saved']),
    form('failure-tag', (fields) => [
      readEdit({ failure_tag: fields.get('failure_tag') || null }),
      'run-failure-tag-saved',
    ]),
  ]
}

const pinnedOf = (text: string | null): boolean => {
  if (text === 'true' || text === 'false') return text === 'true'
  throw new GuardError('INVALID_TRACE', '"pinned" must be true or false.', { path: '/pinned' })
}

const QUOTED = /^"((?:[^"]|"")*)"$/
const TAGS = /"(?:[^"]|"")*"(?=\s*(?:,|$))|[^,\s][^,]*/g

/** Tags as comma-separated text; tags that contain commas are quoted. */
export const tagsText = (tags: readonly string[]): string =>
  tags.map((tag) => (/^"|,/.test(tag) ? `"${tag.replaceAll('"', '""')}"` : tag)).join(', ')

/** Parses the tags of a field. */
const tagsIn = (text: string): readonly string[] =>
  (text.match(TAGS) ?? [])
    .map((tag) => QUOTED.exec(tag)?.[1]?.replaceAll('""', '"') ?? tag)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')

/** Fields of a run that its pin needs. */
interface Pinnable {
  readonly trace_id: string
  readonly pinned: boolean
}

/** Pin button; it belongs to the form `pin` of the page. */
export const pinButton = (run: Pinnable): Html => star(run, '', run.pinned ? ' Pinned' : ' Pin')

/** Pin button in a list. `title`: title of the run. */
export const rowPinButton = (run: Pinnable, title: string): Html => star(run, ` ${title}`, '')

const star = ({ trace_id, pinned }: Pinnable, title: string, words: string): Html =>
  html`<button class="plain pin" form="pin" formaction="/ui/runs/${encodeURIComponent(trace_id)}/pin" name="pinned" value="${String(!pinned)}" data-key="p" aria-label="${pinned ? 'Unpin' : 'Pin'}${title}">${pinned ? '★' : '☆'}${words}</button>`

/** The form of the pin buttons. */
export const pinForm = (return_to: string): Html =>
  html`<form id="pin" method="post" hidden><input type="hidden" name="return_to" value="${return_to}"></form>`
