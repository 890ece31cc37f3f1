import { terminalLine } from '#lib/text'

/** Why a login cannot go on, in words for a person. */
export class LoginFault extends Error {
  /** The authorization server has ended the login: what is kept of it serves nothing more. */
  readonly isFinal: boolean
  constructor(message: string, isFinal = false) {
    super(message)
    this.isFinal = isFinal
  }
}

/** Words of a server on one line, for a sentence. */
export const spoken = (words: unknown, max = 200): string =>
  typeof words === 'string' ? terminalLine(words.slice(0, max)).trim() : ''
