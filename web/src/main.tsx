import { render } from "preact";
import { openSource } from "./lib/source";
import { App } from "./shell/App";
import "asciinema-player/dist/bundle/asciinema-player.css";
import "./style/base.css";
import "./style/lists.css";
import "./style/detail.css";
import "./style/terminal.css";
import "./style/tutorial.css";
import "./style/pipeline.css";
import "./style/work.css";
import "./style/branch.css";
import "./style/timeline.css";

const place = document.getElementById("app");
if (place) {
  place.textContent = "";
  render(<App source={openSource(document)} />, place);
}
