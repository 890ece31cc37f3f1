import type { FastifySerializerCompiler } from 'fastify'

type Serializers = FastifySerializerCompiler<object>
type Serializer = ReturnType<Serializers>

const made = new WeakMap<object, Serializer>()

/** Serialisers that are each made when a route with their schema answers for the first time: most routes of a start are never asked. */
export const lateSerializers =
  (compile: Serializers): Serializers =>
  (route) => {
    let write: Serializer | undefined
    return (data) => {
      write ??= made.get(route.schema) ?? remember(route.schema, compile(route))
      return write(data)
    }
  }

const remember = (schema: object, write: Serializer): Serializer => {
  made.set(schema, write)
  return write
}
