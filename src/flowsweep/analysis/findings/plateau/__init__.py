"""From which window sum, and from which number of flows, is goodput as high as it gets?"""
