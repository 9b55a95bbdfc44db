import type { FastifyInstance } from 'fastify';

const BODY_FORM = 'bodyForm';
const MULTIPART = 'multipart';

/** The constraint of a route that takes multipart requests, beside one of the same method and path that takes JSON. */
export const MULTIPART_ONLY = { [BODY_FORM]: MULTIPART };

/** Has the router tell multipart requests apart where an endpoint is `beside_json`. To be called before any is served. */
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
