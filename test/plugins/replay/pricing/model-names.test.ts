import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ModelTable } from '../../../../plugins/replay/pricing/model-names.ts'

const table = (...names: readonly string[]) => new ModelTable(new Map(names.map((name) => [name, name])))
const listed = (names: readonly string[], model: string) => {
  const found = table(...names).find(model)
  return found === undefined ? undefined : [found.listed, found.region]
}

describe('the name of a model', () => {
  const sonnet = 'claude-sonnet-4-5'
  const spellings: readonly (readonly [model: string, listed: string, region: string | null])[] = [
    [sonnet, sonnet, null],
    ['Claude-Sonnet-4-5', sonnet, null],
    ['claude-sonnet-4.5', sonnet, null],
    ['claude-sonnet-4-5-20250929', sonnet, null],
    ['claude-sonnet-4-5-latest', sonnet, null],
    ['claude-sonnet-4-5[1m]', sonnet, null],
    ['anthropic/claude-sonnet-4.5', sonnet, null],
    ['openrouter/anthropic/claude-sonnet-4.5', sonnet, null],
    ['bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0', sonnet, 'us'],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', sonnet, 'us'],
    ['eu.anthropic.claude-sonnet-4-5-20250929-v1:0', sonnet, 'eu'],
    ['apac.anthropic.claude-sonnet-4-5-20250929-v1:0:200k', sonnet, 'apac'],
    ['global.anthropic.claude-sonnet-4-5-20250929-v1:0', sonnet, 'global'],
    ['us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0', sonnet, 'us-gov'],
    ['anthropic.claude-sonnet-4-5-v1', sonnet, null],
    [
      'arn:aws:bedrock:us-east-1:123456789012:inference-profile/jp.anthropic.claude-sonnet-4-5-20250929-v1:0',
      sonnet,
      'jp',
    ],
    ['vertex_ai/claude-sonnet-4-5@20250929', sonnet, null],
    ['publishers/anthropic/models/claude-sonnet-4-5@default', sonnet, null],
    ['models/gemini-3-pro', 'gemini-3-pro', null],
    ['projects/p/locations/us-central1/publishers/google/models/gemini-3-pro', 'gemini-3-pro', null],
    ['azure/gpt-5.4', 'gpt-5.4', null],
    ['openai/gpt-5-4', 'gpt-5.4', null],
    ['gpt-5.4-2026-03-05', 'gpt-5.4', null],
    ['GPT-5.4', 'gpt-5.4', null],
    ['ollama/qwen3:latest', 'qwen3', null],
  ]

  for (const [model, name, region] of spellings)
    it(`${model} is ${name}${region === null ? '' : ` in ${region}`}`, () => {
      assert.deepEqual(listed([sonnet, 'gemini-3-pro', 'gpt-5.4', 'gpt-5', 'qwen3'], model), [name, region])
    })

  it('is no other model', () => {
    const names = ['gpt-5', 'gpt-5.4', 'o3', 'claude-opus-4', 'deepseek', 'qwen3-coder', 'gpt-4.1']
    const others = [
      ...['gpt-5.4-mini', 'gpt-5.5', 'o3-pro', 'claude-opus-4-5', 'deepseek-v3', 'qwen3-coder:free'],
      ...['ft:gpt-4.1-2025-04-14:acme::x1', 'gpt-5-codex', '', ' ', '/', 'a/', `${'x/'.repeat(200)}gpt-5`],
    ]
    for (const model of others) assert.equal(listed(names, model), undefined, model)
  })

  it('as the file has it comes before everything else', () => {
    assert.deepEqual(listed(['openai/gpt-5', 'gpt-5', 'openai/*'], 'openai/gpt-5'), ['openai/gpt-5', null])
    const bedrock = 'us.anthropic.claude-x-v1:0'
    assert.deepEqual(listed([bedrock, 'claude-x'], bedrock), [bedrock, null])
    assert.deepEqual(listed(['Llama-4', 'llama-4'], 'Llama-4'), ['Llama-4', null])
  })

  it('with fewer changes comes before one with more', () => {
    assert.deepEqual(listed(['gpt-5', 'openai/gpt-5'], 'openrouter/openai/gpt-5'), ['openai/gpt-5', null])
    assert.deepEqual(listed(['gpt-5', 'gpt-5-2026-01-01'], 'openai/gpt-5-2026-01-01'), ['gpt-5-2026-01-01', null])
  })

  it('meets the longest pattern, and the more specific of a pattern and a further name', () => {
    assert.deepEqual(listed(['gpt-*', 'gpt-5-*', '*'], 'gpt-5-mini'), ['gpt-5-*', null])
    assert.deepEqual(listed(['gpt-*', '*'], 'openai/gpt-5'), ['*', null])
    assert.deepEqual(listed(['gpt-*'], 'openai/GPT-5'), ['gpt-*', null])
    assert.deepEqual(listed(['claude-*'], 'eu.anthropic.claude-x-v1:0'), ['claude-*', 'eu'])
    assert.deepEqual(listed(['gpt-*', 'gpt-4o'], 'gpt-4o-2024-05-13'), ['gpt-4o', null])
    assert.deepEqual(listed(['gpt-4o-2024-05*', 'gpt-4o'], 'gpt-4o-2024-05-13'), ['gpt-4o-2024-05*', null])
  })

  it('is found again without a search, however often it is asked for', () => {
    const models = table('gpt-5')
    const first = models.find('openai/gpt-5')
    assert.equal(models.find('openai/gpt-5'), first)
    for (let at = 0; at < 3_000; at++) models.find(`none-${at}`)
    assert.deepEqual(models.find('openai/gpt-5'), first)
  })
})
