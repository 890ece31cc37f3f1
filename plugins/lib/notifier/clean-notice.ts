import type { Notice, Redactor } from 'guard-gateway/core'
import { cutBeforeRedaction, cutText, sanitise, terminalLine } from 'guard-gateway/lib/text'

const TEXT_CHARS = 400
const NAME_CHARS = 200
const PATH_CHARS = 500
const LOOKED_AT_CHARS = 4_000

/** A notice as it may be shown: redacted, each text on one line and cut, its path one of our own pages. */
export const cleanNotice = (redact: Redactor, notice: Notice): Required<Notice> => {
  const clean = (text: string, chars: number): string => {
    const line = terminalLine(sanitise(cutBeforeRedaction(text, LOOKED_AT_CHARS)))
    return cutText(redact.text(line), chars)
  }
  const project_id = notice.project_id ?? null
  return {
    event: cutText(notice.event.replaceAll(/[^\w.-]/g, '_'), NAME_CHARS),
    subject: clean(notice.subject, NAME_CHARS),
    text: clean(notice.text, TEXT_CHARS),
    path: pathOf(clean(notice.path, PATH_CHARS)),
    project_id: project_id === null ? null : clean(project_id, NAME_CHARS),
  }
}

/** What a plugin gives is no address of elsewhere. */
const pathOf = (path: string): string => {
  const url = URL.parse(path, ORIGIN)
  return url?.origin === ORIGIN ? url.pathname + url.search + url.hash : '/'
}
const ORIGIN = 'http://guard.invalid'
