import assert from 'node:assert/strict'
import { it } from 'node:test'
import { commandKind } from '#lib/command'
import { alternativesOf, rowsOf } from '../../../plugins/docs/describe.ts'
import { describeFields } from '../../../plugins/docs/document.ts'
import {
  type Body,
  type Description,
  type LocatedOperation,
  operationsOf,
} from '../../../plugins/docs/page/description.ts'
import { commandExamples } from '../../../plugins/docs/page/guard-command.ts'
import { startGateway } from '../../kit.ts'

const unexplained = ({ content = {} }: Body): readonly string[] =>
  Object.values(content).flatMap(({ schema = {} }) =>
    rowsOf(schema)
      .filter((row) => !/(?:^|\.)\*$/.test(row.name) && row.name !== '')
      .filter((row) => alternativesOf(row.schema).every((one) => one.description === undefined))
      .filter((row) => row.schema.description === undefined)
      .map(({ name }) => name),
  )

const unexplainedOf = ({ method, path, operation }: LocatedOperation): readonly string[] => {
  const { parameters = [], requestBody = {}, responses } = operation
  const names = parameters.filter(({ description }) => description === undefined).map(({ name }) => name)
  const fields = [requestBody, ...Object.values(responses)].flatMap(unexplained)
  return [...names, ...fields].map((name) => `${method} ${path} ${name}`)
}

it('explains every parameter and every field, and has an example for every JSON body', async (context) => {
  const started = await startGateway({})
  context.after(() => started.close())
  const description = (await started.request('GET', '/openapi.json')).json as Description
  const operations = operationsOf(description)
  const silent = new Set(operations.flatMap(unexplainedOf))
  for (const { method, path, operation } of operations) {
    const { schema, example } = operation.requestBody?.content?.['application/json'] ?? {}
    if (schema !== undefined && schema.format !== 'binary' && path !== '/v1/traces')
      assert.notEqual(example, undefined, `${method} ${path} has no example`)
  }
  assert.deepEqual([...silent], [])
})

it('shows commands that exist, with their flags', async (context) => {
  const { gateway, close } = await startGateway({})
  context.after(close)
  for (const { id, flags } of commandExamples) {
    const command = [...gateway.registry(commandKind)].find((one) => one.id === id)
    // commands of presets are not all here
    if (command === undefined) continue
    for (const flag of flags)
      assert.ok(
        Object.keys(command.options ?? {}).some((one) => one.split(' ')[0] === flag),
        `${id} ${flag}`,
      )
  }
})

it('keeps what a field says itself, and changes no schema', () => {
  const schema = { properties: { id: { description: 'Own.' }, name: {}, odd: {} } }
  assert.deepEqual(describeFields(schema), {
    properties: { id: { description: 'Own.' }, name: { description: 'Name for people; need not be unique.' }, odd: {} },
  })
  assert.deepEqual(schema.properties.name, {})
})
