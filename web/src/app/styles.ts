// The order of imports is the cascade: Mantine's styles are in its layer, the project's own come later and outside of it.
import '@mantine/core/styles/baseline.layer.css';
import '@mantine/core/styles/global.layer.css';
import '@mantine/core/styles/UnstyledButton.layer.css';
import '@mantine/core/styles/Input.layer.css';
import './font.css';
import './tokens.css';
import './base.css';
