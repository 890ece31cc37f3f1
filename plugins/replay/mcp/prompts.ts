/** A question that a client may offer its user. */
interface Prompt {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly text: string
}

const prompts: readonly Prompt[] = [
  {
    name: 'why_did_my_last_run_fail',
    title: 'Why did my last run fail?',
    description: 'The newest run that failed, its cause and what helps.',
    text: 'Call why_failed. Look at the step with get_step where its error is not clear. Then say in a few sentences what failed, why, what it cost from there on, and what to change.',
  },
  {
    name: 'where_did_the_money_go',
    title: 'Where did the money go?',
    description: 'The costliest models and runs of the last days.',
    text: 'Call where_did_the_money_go by model and by run. Look into the costliest run by its trace_id. Then say what cost most, how much of its input came from a cache, and what could be saved.',
  },
  {
    name: 'what_changed',
    title: 'What changed since it last went well?',
    description: 'The last good run beside the last bad one.',
    text: 'Find the newest run that failed and the newest of the same agent or name that went well with list_runs, and set them side by side with compare_runs, the good one as left. Say where they part and what differs there.',
  },
]

/** Prompts as `prompts/list` has them. */
export const listedPrompts: readonly object[] = prompts.map(({ name, title, description }) => ({
  name,
  title,
  description,
}))

/** A prompt as `prompts/get` has it; undefined if there is none of this name. */
export const promptNamed = (name: unknown): object | undefined => {
  const found = prompts.find((prompt) => prompt.name === name)
  if (found === undefined) return undefined
  const { description, text } = found
  return { description, messages: [{ role: 'user', content: { type: 'text', text } }] }
}
