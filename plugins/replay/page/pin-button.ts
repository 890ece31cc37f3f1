import { type Html, html } from 'guard-gateway/core'

/** A run as far as its pin goes. */
export interface Pinnable {
  readonly trace_id: string
  readonly pinned: boolean
}

/** Where the form of a run's pin is sent. */
const pinPath = (trace_id: string): string => `/ui/runs/${encodeURIComponent(trace_id)}/pin`

/** A star that pins or lets go; it belongs to the form `pin` of its page. */
export const pinButton = ({ trace_id, pinned }: Pinnable, label = ''): Html => {
  const does = pinned ? 'Unpin' : 'Pin'
  return html`<button class="plain pin" form="pin" formaction="${pinPath(trace_id)}" name="pinned" value="${String(!pinned)}" data-key="p" aria-label="${does}">${pinned ? '★' : '☆'}${label}</button>`
}

/** The form that the stars of a page belong to. */
export const pinForm = (return_to: string): Html =>
  html`<form id="pin" method="post" hidden><input type="hidden" name="return_to" value="${return_to}"></form>`
