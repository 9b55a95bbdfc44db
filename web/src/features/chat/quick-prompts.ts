/** Frequent questions that already include the facts that support needs. */
export const QUICK_PROMPTS = [
  {
    label: 'Performance issues',
    prompt: 'My computer has been slow since [when]. It happens when I [what you do]. These programs are open: ',
  },
  {
    label: 'Firewall help',
    prompt: 'I need help with my firewall. This should pass, or be blocked: [program, address or port]. What happens instead: ',
  },
  {
    label: 'Remote support',
    prompt: 'I would like a technician to look at my computer in a remote session. The problem is: ',
  },
] as const;

/** Puts a prompt into an empty field, or below an existing draft. */
export function withPrompt(draft: string, prompt: string): string {
  return draft.trim() === '' ? prompt : `${draft.trimEnd()}\n${prompt}`;
}
