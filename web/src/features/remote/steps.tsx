import './steps.css';

export interface Step {
  title: string;
  sentence: string;
}

export function Steps({ steps }: { steps: readonly Step[] }) {
  return (
    <ol className="steps">
      {steps.map(({ title, sentence }) => (
        <li key={title}>
          <h3>{title}</h3>
          <p className="sub">{sentence}</p>
        </li>
      ))}
    </ol>
  );
}
