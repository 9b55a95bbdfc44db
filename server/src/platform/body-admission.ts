import type { FastifyRequest } from 'fastify';

/** Decides by the text of a body whether it is parsed. @throws Problem */
type Admission = (text: string) => Promise<void>;

const admissions = new WeakMap<FastifyRequest, Admission>();

/** Has the body of a request parsed only after `admission` has let its text in. */
export function admitBy(request: FastifyRequest, admission: Admission): void {
  admissions.set(request, admission);
}

export function admissionOf(request: FastifyRequest): Admission | undefined {
  return admissions.get(request);
}
