import { type Html, html } from '#lib/html'

/** Fields of a run that its pin needs. */
export interface Pinnable {
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
