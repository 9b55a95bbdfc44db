import type { FastifyInstance } from 'fastify';

const BODY_FORM = 'bodyForm';
const MULTIPART = 'multipart';

/** The constraint of a route that takes multipart requests, where a JSON route has the same method and path. */
export const MULTIPART_ONLY = { [BODY_FORM]: MULTIPART };

/** Makes the router distinguish multipart from JSON requests for endpoints with `beside_json`. Call this before any is registered. */
export function tellFormsApart(fastify: FastifyInstance): void {
  fastify.addConstraintStrategy({
    name: BODY_FORM,
    storage() {
      const handlers = new Map<unknown, never>();
      return {
        get: (form: unknown) => handlers.get(form) ?? null,
        set: (form: unknown, handler: never) => void handlers.set(form, handler),
      };
    },
    deriveConstraint: ({ headers }) =>
      /^\s*multipart\/form-data\s*(?:;|$)/i.test(headers['content-type'] ?? '') ? MULTIPART : undefined,
  });
}
