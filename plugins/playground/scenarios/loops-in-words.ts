import { allowed, caught } from '../expectations.ts'
import { type Expect, type RequestStep, type ScriptedText, scenario } from '../scenario.ts'
import { agentWork, type Turn } from './agent-work.ts'

const TASK = 'The build fails. Find out why and repair it.'

/** Requests of an agent that calls no tools: each thing that it says is answered by its harness. */
const talk = (turns: readonly (readonly [says: string, hears: string])[], expect: (index: number) => Expect) => {
  const steps: RequestStep[] = []
  let say: readonly ScriptedText[] = [{ system: 'You are a coding agent. Say one command at a time.' }, { user: TASK }]
  for (const [place, [text, hears]] of turns.entries()) {
    const reply = { text, input_tokens: 300 + 40 * place, output_tokens: 30 }
    steps.push({ what: `says what to do, ${place + 1}`, do: 'request', say, reply, expect: expect(place + 1) })
    say = [...say, { assistant: text }, { user: hears }]
  }
  const reply = { text: 'I will try once more.', input_tokens: 600, output_tokens: 10 }
  return [...steps, { what: 'hears it again', do: 'request', say, reply, expect: expect(turns.length + 1) } as const]
}

const thoughts = ['I build it.', 'Perhaps it works now.', 'I try the build again.']
const OUTPUT = '<returncode>2</returncode>\n<output>\nmake: no rule for "app"\n</output>'

export const textLoop = scenario({
  id: 'text-loop',
  title: 'A loop without tool calls',
  summary:
    'An agent speaks its commands as text: the same command under other thoughts, with the same answer, three times.',
  kind: 'model',
  rules: [
    { id: 'text_repeat', rule_type: 'text_repeat', threshold: 3, window_size: 8, action: 'block', enabled: true },
  ],
  steps: talk(
    thoughts.map((thought) => [`THOUGHT: ${thought}\n\n\`\`\`bash\nmake app\n\`\`\``, OUTPUT] as const),
    (index) => (index === 4 ? caught('LOOP_TEXT') : allowed),
  ),
})

const files = ['src/tax.ts', 'src/net.ts', 'src/sum.ts', 'src/app.ts']

export const complaintLoop = scenario({
  id: 'complaint-loop',
  title: 'The same complaint, whatever is asked',
  summary: 'A tool says in words what is missing, and flags no error; four calls with other arguments miss the same.',
  kind: 'model',
  rules: [
    { id: 'worded_error', rule_type: 'worded_error', threshold: 4, window_size: 0, action: 'block', enabled: true },
  ],
  steps: agentWork(
    TASK,
    files.map((path) => ({
      what: `writes ${path}`,
      call: 'create_file',
      arguments: { path },
      returns: 'Invalid arguments for tool create_file: content: Required',
    })),
    { what: 'brings the fourth complaint', says: 'I will write the next one.' },
    (index) => (index === 5 ? caught('LOOP_WORDED_ERROR') : allowed),
  ),
})

const reasons = ['Begin with the build', 'First the build, then the tests', 'The build comes first']

const plan = (explanation: string): Turn => ({
  what: 'plans',
  call: 'update_plan',
  arguments: { explanation, plan: [{ step: 'Repair the build', status: 'in_progress' }] },
  returns: 'Plan updated',
})

export const rewordedLoop = scenario({
  id: 'reworded-loop',
  title: 'The same call in other words',
  summary: 'Calls that differ only in what they tell people: the third with the same result is caught.',
  kind: 'model',
  rules: [
    { id: 'reworded_call', rule_type: 'reworded_call', threshold: 3, window_size: 8, action: 'block', enabled: true },
  ],
  steps: agentWork(TASK, reasons.map(plan), { what: 'plans on', says: 'I will plan it once more.' }, (index) =>
    index === 4 ? caught('LOOP_REWORDED') : allowed,
  ),
})

const proving = (index: number, expect: Expect): RequestStep => ({
  what: `attempt ${index}`,
  do: 'request',
  say: [{ user: `Prove that the build is right. (${index})` }],
  reply: { reasoning: 'Let me think about this from the beginning once more.', input_tokens: 20, output_tokens: 900 },
  expect,
})

export const reasoningLoop = scenario({
  id: 'reasoning-loop',
  title: 'Replies that only reason',
  summary: 'Three replies in a row end without a word and without a call: the next request is stopped.',
  kind: 'model',
  rules: [
    { id: 'reasoning_only', rule_type: 'reasoning_only', threshold: 3, window_size: 0, action: 'block', enabled: true },
  ],
  steps: [...[1, 2, 3].map((index) => proving(index, allowed)), proving(4, caught('LOOP_REASONING'))],
})
