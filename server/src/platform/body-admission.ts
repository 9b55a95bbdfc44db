import type { FastifyRequest } from 'fastify';

/** Decides from the raw text of a body whether it is parsed. @throws Problem */
type Admission = (text: string) => Promise<void>;

const admissions = new WeakMap<FastifyRequest, Admission>();

/** Makes the server parse the body of a request only after `admission` has accepted its text. */
export function admitBy(request: FastifyRequest, admission: Admission): void {
  admissions.set(request, admission);
}

export function admissionOf(request: FastifyRequest): Admission | undefined {
  return admissions.get(request);
}
