import type { FastifySerializerCompiler } from 'fastify'

type Serializers = FastifySerializerCompiler<object>
type Serializer = ReturnType<Serializers>

const serializersByRoute = new WeakMap<object, Serializer>()

/** Compiles each serialiser when a route with its schema answers for the first time: most routes are never called. */
export const lazySerializers =
  (compile: Serializers): Serializers =>
  (route) => {
    let write: Serializer | undefined
    return (data) => {
      write ??= serializersByRoute.get(route.schema) ?? remember(route.schema, compile(route))
      return write(data)
    }
  }

const remember = (schema: object, write: Serializer): Serializer => {
  serializersByRoute.set(schema, write)
  return write
}
