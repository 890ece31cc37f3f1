import type { Match } from 'guard-gateway/core'

/** The text that tells a model of a repetition and of alternatives; it is added to the request as a user's message. `refuses`: the rule refuses what goes on. */
export const nudgeFor = (match: Match, refuses: boolean): string =>
  `Guard has noticed a ${match.evidence === 'budget' ? 'budget that is used up' : 'repetition'}: ${match.message}. ${adviceFor(match)}${refuses ? ' If it goes on like this, the next request is refused.' : ''}`

const adviceFor = ({ code, evidence, tool }: Match): string => {
  if (evidence === 'budget') return 'Finish with what you have, and say what is left to do.'
  return byCode[code]?.(tool) ?? `Do not repeat it. ${otherwise}`
}

const otherwise = 'Try another way, or say what you need to go on.'

const orSay = 'If you cannot go on, say what you need.'

const nothingNew = () =>
  `Your last calls told you nothing new. Decide with what you know, look somewhere else, or change something before you look again. ${orSay}`

const byCode: Readonly<Record<string, (tool: string | undefined) => string>> = {
  LOOP_TOOL_CALL: (tool = 'the tool') =>
    `Do not call ${tool} with these arguments again: what it answered stands above. Use that answer, call it with other arguments, or take another tool. ${orSay}`,
  LOOP_TOOL_ERROR: (tool = 'the tool') =>
    `${tool} will fail again in the same way. Read its error, change what it complains about, or take another tool. ${orSay}`,
  LOOP_NO_PROGRESS: nothingNew,
  LOOP_STALE: nothingNew,
  LOOP_SEQUENCE: () => `Do not go through these steps again: they lead back to where they began. ${otherwise}`,
  LOOP_EXACT: () =>
    `The same request was answered before, and it has come again. Do not answer as before. ${otherwise}`,
}
