/** Something that a person may want to hear of. */
export interface Notice {
  /** `blocked`, `paused` and the like; a plugin may tell of kinds of its own. */
  readonly event: string
  /** What it happened to: notices of one event and subject may become one message. */
  readonly subject: string
  /** What happened, in one sentence. */
  readonly text: string
  /** Of the page that shows it: `/sessions/ses_1`. Opening it decides nothing. */
  readonly path: string
  readonly project_id?: string | null
}
