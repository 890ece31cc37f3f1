import { type Html, html } from 'guard-gateway/lib/html'

/** A run as far as its pin goes. */
export interface Pinnable {
  readonly trace_id: string
  readonly pinned: boolean
}

/** A star that pins or lets go; it belongs to the form `pin` of its page. */
export const pinButton = (run: Pinnable): Html => star(run, '', run.pinned ? ' Pinned' : ' Pin')

/** The star of a run in a list. `title`: what the run is called. */
export const rowPinButton = (run: Pinnable, title: string): Html => star(run, ` ${title}`, '')

const star = ({ trace_id, pinned }: Pinnable, title: string, words: string): Html =>
  html`<button class="plain pin" form="pin" formaction="/ui/runs/${encodeURIComponent(trace_id)}/pin" name="pinned" value="${String(!pinned)}" data-key="p" aria-label="${pinned ? 'Unpin' : 'Pin'}${title}">${pinned ? '★' : '☆'}${words}</button>`

/** The form that the stars of a page belong to. */
export const pinForm = (return_to: string): Html =>
  html`<form id="pin" method="post" hidden><input type="hidden" name="return_to" value="${return_to}"></form>`
