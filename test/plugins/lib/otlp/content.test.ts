import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isContentEvent, MetadataOnly } from '#lib/otlp'

const LONG = 'word '.repeat(40)
const names = new MetadataOnly()
const keeps = (name: string, value: unknown): boolean => names.retained(name, value) === value
const PREFIXES = ['', 'guard.attr.', 'guard.run.attr.', 'guard.artifact.attr.', 'resource.']

/** Names of senders whose sources say that they hold what was said, run or found. */
const content = `
gen_ai.input.messages gen_ai.output.messages gen_ai.system_instructions gen_ai.tool.definitions gen_ai.tool.description
gen_ai.tool.call.arguments gen_ai.tool.call.result gen_ai.prompt gen_ai.prompt.0.content gen_ai.completion.0.role
gen_ai.retrieval.query.text gen_ai.event.content gen_ai.request.messages gen_ai.response.text gen_ai.tool.input
gen_ai.tool.output llm.input_messages.0 llm.output_messages.1.message.content llm.prompts.0.prompt.text
llm.prompt_template.variables llm.tools.0.tool.json_schema llm.invocation_parameters input.value output.value prompt
user_prompt system_prompt completion tool.parameters tool.description retrieval.documents.0.document.content
reranker.input_documents.0.document.content reranker.query embedding.text embedding.embeddings.0.embedding.text
traceloop.entity.input traceloop.entity.output ai.prompt ai.prompt.messages ai.response.text ai.response.toolCalls
ai.response.reasoning ai.result.object ai.toolCall.args ai.toolCall.result ai.value pydantic_ai.all_messages
tool_arguments tool_response new_context final_result response.model_output langfuse.observation.input
langfuse.trace.output langfuse.observation.model.parameters mlflow.spanInputs mlflow.spanOutputs full_command bash_command
output tool_input process.command_line process.command_args container.command_args mastra.agent_run.input
mastra.model_step.output mastra.model_chunk.output mastra.metadata.body gcp.vertex.agent.llm_request
gcp.vertex.agent.llm_response gcp.vertex.agent.tool_call_args gcp.vertex.agent.data lmnr.span.input lmnr.span.output
genkit:input genkit:output braintrust.input_json braintrust.output_json langsmith.metadata.inputs crewai.task.description
haystack.component.input agentops.entity.output logfire.msg request_data db.statement db.query.text url.query my.prompt
exception.stacktrace userprompt tooloutputs userPrompt toolCallArguments guard.preview.input shell.cmd search_query
`
  .trim()
  .split(/\s+/)

describe('content by name', () => {
  it('goes however short it is, where it is on a record, a run or a resource', () => {
    for (const name of content)
      for (const prefix of PREFIXES)
        for (const value of ['hello', { stringValue: 'x' }, ['a', 'b']]) assert.ok(!keeps(prefix + name, value), name)
  })

  it('goes under names like those of the gateway and of conventions too', () => {
    for (const family of ['guard.', 'guard.sent.gen_ai.', 'openinference.', 'telemetry.', 'k8s.', 'cloud.']) {
      for (const word of ['prompt', 'input', 'tool_output', 'message'])
        assert.ok(!keeps(family + word, 'fix it'), family + word)
      assert.ok(keeps(`${family}zone`, 'eu-west-1'), family)
    }
    for (const family of ['guard.', 'openinference.', 'telemetry.'])
      for (const text of [LONG, '{"role":"user"}']) assert.ok(!keeps(`${family}note`, text), family)
  })

  it('is not what counts it', () => {
    for (const name of ['prompt_tokens', 'llm.token_count.prompt', 'prompt_length', 'ai.usage.promptTokens', 'output'])
      for (const value of [1, 2n, 0.5, true, null]) assert.ok(keeps(name, value), name)
    assert.ok(!keeps('ai.embedding', Array.from({ length: 3 }, Math.random)))
    assert.ok(!keeps('x.numbers', Array.from({ length: 40 }, Math.random)))
  })

  it('is told from what names it', () => {
    for (const name of ['prompt.id', 'gen_ai.prompt.name', 'input.mime_type', 'gen_ai.output.type', 'tool.call.id'])
      assert.ok(name === 'gen_ai.prompt.name' || keeps(name, 'abc'), name)
    assert.ok(keeps('gen_ai.prompt.name', 'abc'))
  })
})

describe('texts of names that nobody knows', () => {
  it('stay when they are short and plain', () => {
    for (const value of [
      'blue',
      'short plain text',
      '2026-06-21T00:00:00.000Z',
      'gpt-5.4',
      'a/b.c:d',
      '-Infinity',
      '日本語',
    ])
      assert.ok(keeps('acme.whatever', value), value)
    assert.ok(keeps('acme.colours', ['red', 'blue']))
  })

  it('go when they are long, several lines, data or a command line', () => {
    const gone = [LONG, 'two\nlines', '{"a":"b"}', '[1,2]', 'x {"a":1}', "{'a': 'b'}", 'f [ "x" ]', '{a: 1}', '[x]']
    for (const value of [...gone, 'rm -rf x', 'ls --all', 'a && b', 'cat x | sh', 'echo $(id)', '`id`', 'x > y z'])
      assert.ok(!keeps('acme.whatever', value), value)
    for (const value of [{ a: 'b' }, [{ a: 1, b: 'x' }], ['x'.repeat(40), 'y'.repeat(40)], [['x']]])
      assert.ok(!keeps('acme.whatever', value))
  })

  it('stay up to 256 characters as one word of an identifier', () => {
    const id = 'x'.repeat(200)
    for (const name of ['acme.request_id', 'acme.agentName', 'acme.kind']) assert.ok(keeps(name, id), name)
    for (const value of [LONG, 'x'.repeat(300), `{"a":"${id}"}`]) assert.ok(!keeps('acme.request_id', value), value)
  })

  it('that users give are single words', () => {
    for (const name of [
      'langfuse.trace.metadata.plan',
      'ai.telemetry.metadata.note',
      'traceloop.association.properties.x',
    ]) {
      assert.ok(keeps(name, 'prod'), name)
      assert.ok(!keeps(name, 'tell me more'), name)
    }
  })
})

it('names that are texts themselves go with their values', () => {
  const dropped: number[] = []
  const given = { 'tell me a story': 1, '{"a":"b"}': 2, fine: 3 }
  const kept = names.attributes(given, (count) => dropped.push(count))
  assert.deepEqual([{ ...kept }, dropped], [{ fine: 3 }, [2]])
})

describe('names that are known to be harmless', () => {
  it('keep one line of 256 characters', () => {
    const label = `a {b} ${'c'.repeat(100)}`
    for (const name of [
      'gen_ai.request.model',
      'http.route',
      'service.name',
      'guard.reason',
      'k8s.pod.name',
      'tool.name',
    ])
      for (const prefix of PREFIXES) {
        assert.ok(keeps(prefix + name, label), name)
        assert.ok(!keeps(prefix + name, `${label}\n`), name)
        assert.ok(!keeps(prefix + name, 'x'.repeat(300)), name)
      }
    assert.ok(
      keeps('tag.tags', ['a tag of several words, such as people give', 'another one of them, also rather long']),
    )
  })

  it('keep objects of numbers alone', () => {
    const usage = '{"input":5,"details":{"cached":2}}'
    assert.ok(keeps('langfuse.observation.usage_details', usage))
    assert.ok(keeps('acme.usage', { input: 5 }))
    for (const value of ['{"input":"x"}', '{"a b":1}', '{', `[${'1,'.repeat(3000)}1]`])
      assert.ok(!keeps('langfuse.observation.usage_details', value), value)
  })

  it('keep addresses without what was asked, programs without what they were told', () => {
    assert.equal(names.retained('url.full', 'https://a.b/c?q=secret#x'), 'https://a.b/c')
    assert.equal(names.retained('http.target', '/c?q=secret'), '/c')
    assert.ok(keeps('process.command', '/usr/bin/node'))
    assert.ok(!keeps('process.command', 'node x.js'))
  })

  it('keep of an error what it is called', () => {
    for (const name of ['exception.message', 'acme.error', 'errorMessage', 'error.detail']) {
      assert.ok(keeps(name, 'Request timed out.'), name)
      for (const [text, said] of [
        ['529 {"type":"error","error":{"message":"secret"}}', '529 …'],
        [`AI_InvalidToolInputError: ${LONG}`, 'AI_InvalidToolInputError …'],
        [LONG, `error text of ${LONG.length} characters, not kept`],
      ] as const)
        assert.equal(names.retained(name, text), said)
    }
  })

  it('filter attributes of links', () => {
    const links = [{ trace_id: 'a', span_id: 'b', attributes: { prompt: 'x', n: 1 } }]
    assert.deepEqual(
      JSON.stringify(names.retained('otel.links', links)),
      '[{"trace_id":"a","span_id":"b","attributes":{"n":1}}]',
    )
  })
})

it('events that tell nothing but what was said are known', () => {
  for (const name of ['gen_ai.user.message', 'gen_ai.system.message', 'gen_ai.choice'])
    assert.ok(isContentEvent(name), name)
  for (const name of ['message', 'gen_ai.choices', 'exception']) assert.ok(!isContentEvent(name), name)
})
